// Everything works without this file. It adds a button that copies a key, looks again when an answer is due, and
// recomputes the chain of the books.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.done;
  });
}

// A question that waits says in how many seconds to look again.
const waits = document.querySelector("[data-wait]");
if (waits) setTimeout(() => location.reload(), 1000 * Number(waits.dataset.wait));

// The chain of the books: each hash is SHA-256 of the one before it and of the entry.
const chain = document.getElementById("chain"), recomputed = document.getElementById("recomputed");
if (chain && crypto.subtle) {
  (async () => {
    const { before, entries } = JSON.parse(chain.textContent), write = new TextEncoder();
    let head = before, right = true;
    for (const [population, number, at, kind, body, hash] of entries) {
      const bytes = [...head.match(/../g).map((pair) => parseInt(pair, 16)), ...write.encode([population, number, at, kind, body].join("\n"))];
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
      head = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      right = right && head === hash;
    }
    recomputed.textContent = right ? recomputed.dataset.right : recomputed.dataset.wrong;
    recomputed.classList.toggle("warning", !right);
  })();
}
