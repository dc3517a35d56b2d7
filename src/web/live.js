// Keeps a page current without reloading it: hears of changes from the server as they happen, fetches the page again now and then, and
// changes in place only what differs, so that focus, selection and the place of a screen reader stay. A page that is paused or does not
// change has no data-refresh-seconds. Also makes the copy buttons work, which are hidden without this file.
//
// Other scripts hear of it by events of the document: uptuple:arriving, with what has come and is not in the page yet, and
// uptuple:changed, when it is.

/** Viewers who are told to fetch the page again do so within this time of each other, in ms. */
const SPREAD_MS = 1500;

let timer = 0;
let stream = null;

function refreshLater(seconds = Number(document.body.dataset.refreshSeconds)) {
  clearTimeout(timer);
  if (seconds > 0) timer = setTimeout(refreshNow, seconds * 1000);
}

async function refreshNow() {
  clearTimeout(timer);
  if (!document.hidden) await refresh();
  refreshLater();
}

async function refresh() {
  let page;
  try {
    const answer = await fetch(location.href, {
      headers: { accept: "text/html" },
      // What a browser keeps of a public page is asked for whether it is still right.
      cache: "no-cache",
      signal: AbortSignal.timeout(10_000),
    });
    // Signed out meanwhile.
    if (answer.status === 401) return location.reload();
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return sayLost();
  }
  if (isOtherRelease(page)) return location.reload();
  document.title = page.title;
  // What was said last stays where it can be read again.
  const said = page.getElementById("said");
  if (said !== null) said.textContent = document.getElementById("said")?.textContent ?? "";
  arrive(page);
  become(document.body, page.body);
  settle();
}

function arrive(root) {
  showCopyButtons(root);
  document.dispatchEvent(new CustomEvent("uptuple:arriving", { detail: root }));
}

function settle() {
  document.dispatchEvent(new CustomEvent("uptuple:changed"));
  follow();
}

/** Listens where the page says that changes are told; not while nobody sees it, since a browser has few connections to a server. */
function follow() {
  const wanted = document.hidden ? undefined : document.body.dataset.stream;
  // The mark in it says from where on; the stream that is open knows better.
  if (stream !== null && wanted !== undefined && stream.readyState !== EventSource.CLOSED) return;
  stream?.close();
  stream = null;
  if (wanted === undefined) return;
  stream = new EventSource(wanted);
  stream.addEventListener("parts", ({ data }) => showParts(JSON.parse(data)));
  stream.addEventListener("refetch", () => {
    clearTimeout(timer);
    timer = setTimeout(refreshNow, Math.random() * SPREAD_MS);
  });
}

/** What has changed, as the server draws it. */
function showParts({ title, said, parts }) {
  document.title = title;
  const present = new Map(
    [...document.querySelectorAll("[data-key]")].map((element) => [element.dataset.key, element]),
  );
  const arriving = document.createElement("template");
  for (const [key, html] of parts) {
    arriving.innerHTML = html;
    const wanted = arriving.content.firstElementChild;
    arrive(arriving.content);
    if (present.has(key)) become(present.get(key), wanted);
  }
  if (said !== "") document.getElementById("said").textContent = said;
  settle();
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
  for (const { name } of [...old.attributes]) {
    // What a viewer has opened stays open.
    if (!wanted.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
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
refreshLater();
follow();
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && document.body.dataset.refreshSeconds !== undefined) refreshNow();
  follow();
});
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button === null) return;
  await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
  button.textContent = "Copied";
  setTimeout(() => button.textContent = "Copy", 2000);
});
