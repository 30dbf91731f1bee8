// A wide table scrolls by itself; make it reachable with the keyboard. The theme wraps tables when it starts.
function makeScrollable() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) box.tabIndex = 0;
}
new MutationObserver(makeScrollable).observe(document.body, { childList: true, subtree: true });
makeScrollable();
