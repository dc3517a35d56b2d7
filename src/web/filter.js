// Filters the services at each key and choice, without asking the server, which does the same where there is no JavaScript. The
// address says what is shown, so that it can be sent to somebody, and a refresh shows the same.

function form() {
  return document.querySelector("form.filter");
}

function chosen() {
  const values = new FormData(form());
  const value = (name) => String(values.get(name) ?? "").trim();
  return { search: value("q").toLowerCase(), state: value("state"), group: value("group"), tag: value("tag") };
}

function apply() {
  if (form() === null) return;
  const { search, state, group, tag } = chosen();
  let shown = 0;
  const rows = document.querySelectorAll(".service[data-status]");
  for (const row of rows) {
    const groupName = row.closest("[data-group]").dataset.group;
    const isShown = (state === "" || row.dataset.status === state) && (group === "" || groupName === group) &&
      (tag === "" || [...row.querySelectorAll(".tag")].some((chip) => chip.textContent === tag)) &&
      (search === "" || [groupName, ...textsOf(row)].some((text) => text.toLowerCase().includes(search)));
    shown += Number(isShown);
    if (row.hidden === isShown) row.hidden = !isShown;
  }
  const isFiltering = search + state + group + tag !== "";
  say(isFiltering ? `${shown} of ${rows.length} ` : "");
}

/** Name, region, tags and URL. */
function textsOf(row) {
  return [...row.querySelectorAll(".name bdi, .name .chip, .url")].map((element) => element.textContent);
}

function say(text) {
  const place = document.getElementById("shown");
  const present = place.firstChild?.nodeValue ?? "";
  if (present === text) return;
  place.replaceChildren();
  if (text === "") return;
  const clear = Object.assign(document.createElement("a"), { href: location.pathname, textContent: "Show all" });
  clear.dataset.clear = "";
  place.append(text, clear);
}

function remember() {
  const query = new URLSearchParams([...new FormData(form())].filter(([, value]) => value !== ""));
  history.replaceState(null, "", query.size === 0 ? location.pathname : `?${query}`);
}

function withoutButton(page) {
  for (const button of page.querySelectorAll("[data-without-script]")) button.hidden = true;
}

function changed(event) {
  if (event.target.closest("form.filter") === null) return;
  apply();
  remember();
}

withoutButton(document);
document.addEventListener("input", changed);
document.addEventListener("change", changed);
document.addEventListener("submit", (event) => {
  if (event.target.matches("form.filter")) event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-clear]") === null) return;
  event.preventDefault();
  for (const field of form().querySelectorAll("select, input[type=search]")) field.value = "";
  apply();
  remember();
  form().querySelector("input[type=search]").focus();
});
document.addEventListener("uptuple:arriving", ({ detail }) => withoutButton(detail));
document.addEventListener("uptuple:changed", apply);
