"use strict";
(() => {
  // ---- folding ---------------------------------------------------------------------------------------------------
  for (const button of document.querySelectorAll("[data-fold]")) {
    button.addEventListener("click", () => {
      const open = button.dataset.fold === "open";
      for (const details of button.closest(".foldable").querySelectorAll("details")) details.open = open;
    });
  }
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });

  // ---- one case --------------------------------------------------------------------------------------------------
  const block = document.getElementById("case-data");
  if (!block) return;
  const data = JSON.parse(block.textContent);
  const form = document.getElementById("case-form");
  const result = document.getElementById("case-result");

  // The code of a value: how many cuts lie below a number, or the place of a category in its list.
  function codes() {
    const found = {};
    for (const field of form.querySelectorAll("[data-attribute]")) {
      const attribute = field.dataset.attribute, cuts = data.cuts[attribute];
      if (cuts === null) found[attribute] = Number(field.value);
      else if (field.value === "" || Number.isNaN(field.valueAsNumber)) found[attribute] = data.missing[attribute];
      else found[attribute] = cuts.filter((cut) => cut < field.valueAsNumber).length;
    }
    return found;
  }

  function descend(tree, found) {
    const path = [0];
    let node = 0;
    while (tree.attribute[node] >= 0) {
      const code = found[tree.attribute[node]], cut = tree.cut[node];
      const branch = [Number(code > cut), Number(code !== cut), code][tree.kind[node]];
      node = tree.first_child[node] + branch;
      path.push(node);
    }
    return path;
  }

  // The nodes of the page on a path: a leaf that the page shows as one with another goes by that one's number.
  const onPage = (path, t) => path.map((node) => (data.shown_as?.[t] ?? {})[node] ?? node);

  const roots = [];
  data.trees.reduce((start, tree) => (roots.push(start), start + tree.attribute.length), 0);
  const largest = (numbers) => numbers.indexOf(Math.max(...numbers));
  const shared = (weights) => {
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => (total > 0 ? weight / total : 1 / weights.length));
  };
  const softmax = (scores) => shared(scores.map((score) => Math.exp(score - Math.max(...scores))));

  // What all trees say together, as voting.py has it: [the class, the share of each class].
  function vote(leaves) {
    const found = leaves.map((leaf, t) => data.scores[roots[t] + leaf]);
    if (data.voting === null) return [data.trees[0].label[leaves[0]], found[0]];
    const best = data.voting === "surest";
    let tally = found.reduce((a, b) => a.map((x, c) => (best ? Math.max(x, b[c]) : x + b[c])));
    if (data.prior) tally = tally.map((x, c) => x + data.prior[c]);
    const top = Math.max(...tally);
    const shares = data.voting === "evidence" ? softmax(tally) : shared(tally.map((x) => Math.max(x, 0)));
    if (best) {
      const opinion = leaves.map((leaf, t) => data.ties[roots[t] + leaf]).reduce((a, b) => a.map((x, c) => x + b[c]));
      tally = tally.map((x, c) => (x === top ? opinion[c] : -1));
    }
    return [largest(tally), shares];
  }

  function mark(paths) {
    for (const old of document.querySelectorAll(".on")) old.classList.remove("on");
    paths.forEach((path, t) => {
      for (const node of onPage(path, t)) {
        for (const id of [`t${t}-${node}`, `p${t}-${node}`, `p${t}-to-${node}`]) {
          document.getElementById(id)?.classList.add("on");
        }
      }
    });
  }

  function verdict(words, code, steps) {
    const chip = document.createElement("span");
    chip.className = `then c${code}`;
    chip.textContent = words;
    result.querySelector(".verdict").replaceChildren("The model says ", chip);
    result.querySelector(".path").replaceChildren(...steps.map((step) => {
      const item = document.createElement("li");
      item.append(...(typeof step === "string" ? [step] : step));
      return item;
    }));
    result.dataset.label = words;
  }

  // A number, with as many digits as its noise leaves.
  const written = (value) => Number(value.toPrecision(4)).toLocaleString("en");

  function sayNumber([value, margin], steps) {
    verdict(`about ${written(value)}`, 0, steps);
    result.querySelector(".reason").textContent = margin > 0 ? `± ${Number(margin.toPrecision(2)).toLocaleString("en")}` : "";
    result.dataset.value = String(value);
  }

  function say(code, shares, steps) {
    verdict(data.labels[code], code, steps);
    const graded = shares.some((share) => share > 0.0001 && share < 0.9999);
    const told = data.labels.map((name, c) => `${name} ${Math.round(100 * shares[c])} %`).join(", ");
    result.querySelector(".reason").textContent = graded ? told : "";
    result.dataset.shares = JSON.stringify(shares);
  }

  function followTrees(found) {
    const paths = data.trees.map((tree) => descend(tree, found));
    const leaves = paths.map((path) => path.at(-1));
    // Only items of the list have a condition: the root has none, even if tests above it are not shown.
    const met = data.trees.length > 1 ? [] : onPage(paths[0], 0).map((node) => document.getElementById(`t0-${node}`));
    const items = met.filter((item) => item?.tagName === "LI");
    const steps = items.map((item) => item.querySelector(".when").cloneNode(true).childNodes);
    if (data.number) sayNumber(data.scores[leaves[0]], steps);
    else say(...vote(leaves), steps);
    mark(paths);
  }

  // ---- a sum -----------------------------------------------------------------------------------------------------
  // From scores to probabilities, and what each part adds to their logarithms on the way: as models/link.py has it.
  const linked = (scores) => shared(softmax(scores).map((q) => q * (1 + Math.expm1(-data.margin) * q)));

  function sharedOut(base, way, rows) {
    const steps = 64, taken = -Math.expm1(-data.margin);
    let effects = rows.map((row) => row.map(() => 0));
    for (let i = 0; i < steps; i += 1) {
      const q = softmax(base.map((x, c) => x + way[c] * (i + 0.5) / steps));
      effects = effects.map((total, j) => {
        const mean = rows[j].reduce((sum, x, c) => sum + x * q[c], 0);
        return total.map((x, c) => x + (rows[j][c] - taken * q[c] / (1 - taken * q[c]) * (rows[j][c] - mean)) / steps);
      });
    }
    return effects;
  }

  function factor(added) {
    const by = Math.exp(Math.abs(added));
    return `${added < 0 ? "÷" : "×"} ${by < 99.5 ? by.toPrecision(2) : Math.round(by)}`;
  }

  function typed(attribute) {
    const field = form.querySelector(`[data-attribute="${attribute}"]`);
    return (field.selectedOptions ? field.selectedOptions[0].text : field.value) || "missing";
  }

  function followSum(found) {
    const leaf = data.trees.length ? data.leaf[descend(data.trees[0], found).at(-1)] : 0;
    const added = data.parts.map((part) => {
      const row = part.attributes.reduce((row, a, i) => row * part.sides[i] + (part.levels[i] ? part.levels[i][found[a]] : found[a]), 0);
      return part.table[part.attributes.length ? row : leaf];
    });
    if (data.number) {
      const amounts = data.parts.map((part, i) => [added[i][0], `${part.what}${part.attributes.length ? " = " : ""}${
        part.attributes.map(typed).join(", ")}: ${added[i][0] < 0 ? "" : "+"}${written(added[i][0])}`]);
      amounts.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
      const sum = amounts.reduce((total, one) => total + one[0], data.offset[0]);
      sayNumber([Math.min(Math.max(sum, data.bounds[0]), data.bounds[1]), 0], [`everyone: ${written(data.offset[0])}`, ...amounts.map((one) => one[1])]);
      return;
    }
    const two = data.offset.length === 1, full = (row) => (two ? [0, row[0]] : row);
    const base = full(data.offset), rows = added.map(full);
    const way = rows.reduce((total, row) => total.map((x, c) => x + row[c]), base.map(() => 0));
    const shares = linked(base.map((x, c) => x + way[c])), code = largest(shares);
    // With two classes a factor is that of the second one's odds; with more, that of the class which is said.
    const seen = (row) => (two ? row[1] - row[0] : row[code] - row.reduce((a, b) => a + b, 0) / row.length);
    const effects = sharedOut(base, way, rows).map(seen);
    const steps = data.parts.map((part, i) => [effects[i], `${part.what}${part.attributes.length ? " = " : ""}${
      part.attributes.map(typed).join(", ")}: ${factor(effects[i])}`]);
    steps.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
    const begin = seen(linked(base).map(Math.log));
    say(code, shares, [`everyone: odds of ${data.labels[two ? 1 : code]} ${factor(begin)}`, ...steps.map((step) => step[1])]);
  }

  const follow = () => (data.parts ? followSum : followTrees)(codes());
  form.addEventListener("input", follow);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = result.hidden = false;
  follow();
})();
