// Keeps a page current without reloading it: fetches it again, and changes in place only what differs, so that focus, selection and
// the place of a screen reader stay. A page that is paused or does not change has no data-refresh-seconds. Also makes the copy
// buttons work, which are hidden without this file.

const seconds = Number(document.body.dataset.refreshSeconds);
if (seconds > 0) {
  let timer = 0;
  const refreshAgain = async () => {
    clearTimeout(timer);
    if (!document.hidden) await refresh();
    timer = setTimeout(refreshAgain, seconds * 1000);
  };
  timer = setTimeout(refreshAgain, seconds * 1000);
  document.addEventListener("visibilitychange", () => document.hidden || refreshAgain());
}

async function refresh() {
  let page;
  try {
    const answer = await fetch(location.href, {
      headers: { accept: "text/html" },
      signal: AbortSignal.timeout(seconds * 1000),
    });
    // Signed out meanwhile.
    if (answer.status === 401) return location.reload();
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return sayLost();
  }
  if (isOtherRelease(page)) return location.reload();
  document.title = page.title;
  showCopyButtons(page);
  become(document.body, page.body);
}

/** An old page must not pass for a current one. */
function sayLost() {
  const lost = document.getElementById("lost");
  lost.textContent = lost.dataset.text;
  lost.hidden = false;
}

function isOtherRelease(page) {
  const style = (of) => of.querySelector("link[rel=stylesheet]")?.getAttribute("href");
  return style(page) !== style(document);
}

/**
 * Makes one element equal to another and keeps in place what both have. Nothing is moved, which would take the focus from it: what
 * stands before the next match goes, and what has no match is put in.
 */
function become(old, wanted) {
  for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of wanted.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  let present = old.firstChild;
  for (const node of wanted.childNodes) {
    const match = findMatch(present, node);
    if (match === null) {
      old.insertBefore(document.importNode(node, true), present);
      continue;
    }
    while (present !== match) present = removeAndStep(present);
    present = match.nextSibling;
    if (match.isEqualNode(node)) continue;
    if (match.nodeType === Node.ELEMENT_NODE) become(match, node);
    else match.nodeValue = node.nodeValue;
  }
  while (present !== null) present = removeAndStep(present);
}

/** The first node, from one on, that is for the same thing. */
function findMatch(from, wanted) {
  for (let node = from; node !== null; node = node.nextSibling) {
    if (node.nodeName === wanted.nodeName && keyOf(node) === keyOf(wanted)) return node;
  }
  return null;
}

/** Tells rows and sections apart; nothing else is put in or taken out among its like. */
function keyOf(node) {
  return node.dataset?.key ?? "";
}

function removeAndStep(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function showCopyButtons(page) {
  if (navigator.clipboard === undefined) return;
  for (const button of page.querySelectorAll("[data-copy]")) button.hidden = false;
}

showCopyButtons(document);
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button === null) return;
  await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
  button.textContent = "Copied";
  setTimeout(() => button.textContent = "Copy", 2000);
});
