// Wide tables and drawings scroll by themselves; make them reachable with the keyboard. The theme wraps tables when it
// starts.
const phone = matchMedia("(max-width: 600px)");
function makeScrollable() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) box.tabIndex = 0;
  if (!phone.matches) return;
  for (const picture of document.querySelectorAll('p > img[src$=".svg"]:only-child')) picture.parentElement.tabIndex = 0;
}
new MutationObserver(makeScrollable).observe(document.body, { childList: true, subtree: true });
phone.addEventListener("change", makeScrollable);
makeScrollable();
