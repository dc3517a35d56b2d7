// Light, dark, or as the system has it. Runs before the page is painted, so that the wrong one never flashes; the choice stays in this
// browser. The switch is hidden without this file.

(() => {
  const THEMES = ["system", "light", "dark"];
  const stored = () => {
    try {
      return localStorage.getItem("theme") ?? "system";
    } catch {
      return "system";
    }
  };
  let theme = THEMES.includes(stored()) ? stored() : "system";
  const root = document.documentElement;

  const show = () => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    document.dispatchEvent(new CustomEvent("uptuple:theme"));
  };
  const label = (page) => {
    for (const button of page.querySelectorAll("[data-theme-switch]")) {
      button.hidden = false;
      button.textContent = `Theme: ${theme}`;
    }
  };

  show();
  document.addEventListener("DOMContentLoaded", () => label(document));
  document.addEventListener("uptuple:arriving", ({ detail }) => label(detail));
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-switch]") === null) return;
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      if (theme === "system") localStorage.removeItem("theme");
      else localStorage.setItem("theme", theme);
    } catch {
      // Where nothing may be stored the choice holds until the page is left.
    }
    show();
    label(document);
  });
})();
