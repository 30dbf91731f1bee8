"""Fit a tree on a Spark cluster: `spark-submit fit_visits.py RECORDS SCHEMA FOLDER`.

RECORDS is a Parquet table, SCHEMA the public facts about it. FOLDER outlives the cluster: it gets the journal, the
model and, below `codes`, the codes of records while they are counted.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

import privet


def main(records: str, schema: str, folder: str) -> None:
    session = SparkSession.builder.getOrCreate()
    session.sparkContext.setCheckpointDir(f"{folder}/codes")
    ledger = privet.Ledger(2, journal=f"{folder}/visits.journal")
    visits = session.read.parquet(records)
    facts = privet.Schema.from_json(schema)
    tree = privet.ExactTreeClassifier(schema=facts, epsilon=1, max_depth=2, ledger=ledger).fit(visits)
    tree.save(f"{folder}/tree.json")
    print(tree.certificate_)


if __name__ == "__main__":
    main(*sys.argv[1:])
