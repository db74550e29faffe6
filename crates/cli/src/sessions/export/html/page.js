"use strict";
// One listener for the page, however long it is.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-fold]");
  if (!button) return;
  const opens = button.dataset.fold === "open";
  for (const each of document.querySelectorAll("details." + button.dataset.what)) each.open = opens;
});
