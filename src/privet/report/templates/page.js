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

  const roots = [];
  data.trees.reduce((start, tree) => (roots.push(start), start + tree.label.length), 0);
  const largest = (numbers) => numbers.indexOf(Math.max(...numbers));

  // What all trees say together, as voting.py has it: [the class, the share of each class].
  function vote(leaves) {
    const said = leaves.map((leaf, t) => data.says[roots[t] + leaf]);
    if (data.voting === null) return [data.trees[0].label[leaves[0]], said[0]];
    const best = data.voting === "surest";
    let tally = said.reduce((a, b) => a.map((x, c) => (best ? Math.max(x, b[c]) : x + b[c])));
    if (data.prior) tally = tally.map((x, c) => x + data.prior[c]);
    const top = Math.max(...tally);
    let weights = data.voting === "evidence" ? tally.map((x) => Math.exp(x - top)) : tally.map((x) => Math.max(x, 0));
    const total = weights.reduce((a, b) => a + b, 0);
    const shares = weights.map((x) => (total > 0 ? x / total : 1 / weights.length));
    if (best) {
      const opinion = leaves.map((leaf, t) => data.ties[roots[t] + leaf]).reduce((a, b) => a.map((x, c) => x + b[c]));
      tally = tally.map((x, c) => (x === top ? opinion[c] : -1));
    }
    return [largest(tally), shares];
  }

  function mark(paths) {
    for (const old of document.querySelectorAll(".on")) old.classList.remove("on");
    paths.forEach((path, t) => {
      for (const node of path) {
        for (const id of [`t${t}-${node}`, `p${t}-${node}`, `p${t}-to-${node}`]) {
          document.getElementById(id)?.classList.add("on");
        }
      }
    });
  }

  function follow() {
    const found = codes();
    const paths = data.trees.map((tree) => descend(tree, found));
    const [code, shares] = vote(paths.map((path) => path.at(-1)));
    const verdict = result.querySelector(".verdict"), reason = result.querySelector(".reason");
    const chip = document.createElement("span");
    chip.className = `then c${code}`;
    chip.textContent = data.labels[code];
    verdict.replaceChildren("The model says ", chip);
    const graded = shares.some((share) => share > 0.0001 && share < 0.9999);
    reason.textContent = graded ? data.labels.map((name, c) => `${name} ${Math.round(100 * shares[c])} %`).join(", ") : "";
    const steps = data.trees.length > 1 ? [] : paths[0].slice(1).map((node) => document.getElementById(`t0-${node}`));
    result.querySelector(".path").replaceChildren(...steps.filter(Boolean).map((step) => {
      const item = document.createElement("li");
      item.textContent = step.querySelector(".when").textContent;
      return item;
    }));
    result.dataset.label = data.labels[code];
    result.dataset.shares = JSON.stringify(shares);
    mark(paths);
  }

  form.addEventListener("input", follow);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = result.hidden = false;
  follow();
})();
