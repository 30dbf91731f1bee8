// Everything works without this file. It adds a button that copies a key, and looks again when an answer is due.
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
