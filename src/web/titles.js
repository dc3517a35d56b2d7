// Gives each of the 90 bars of a service its title when it is pointed at: date, uptime, coverage. On a page with many services they are
// not in the page itself, which they would make five times as large.

document.addEventListener("pointermove", ({ target, clientX }) => {
  const bars = target.closest?.("svg[data-days]");
  if (bars === null || bars === undefined) return;
  const box = bars.getBoundingClientRect();
  const runs = bars.dataset.days.split(";").map((run) => run.split(":"));
  const count = runs.reduce((sum, [days]) => sum + Number(days), 0);
  const day = Math.min(count - 1, Math.max(0, Math.floor((clientX - box.left) / box.width * count)));
  const last = Date.parse(bars.closest("[data-last-day]").dataset.lastDay);
  const date = new Date(last - (count - 1 - day) * 86400000).toISOString().slice(0, 10);
  let passed = 0;
  const [, words] = runs.find(([days]) => (passed += Number(days)) > day);
  const [uptime, coverage] = (words ?? "").split("/");
  const text = `${date}: ${
    coverage !== undefined
      ? `${uptime} % up, ${coverage} % covered`
      : words ?? bars.closest("[data-all-well]").dataset.allWell
  }`;
  const title = bars.querySelector("title") ?? bars.appendChild(document.createElementNS(bars.namespaceURI, "title"));
  if (title.textContent !== text) title.textContent = text;
});
