/**
 * The viewer's looks. They stay within its shadow root; a page gives it its own colours and fonts by the custom properties that
 * begin with `--flame-`.
 */
export const styles = `
:host {
  display: flex;
  flex-direction: column;
  min-height: 20rem;
  height: 100%;
}
.viewer {
  --ink: var(--flame-ink, light-dark(#1d2125, #e9e6e0));
  --soft: var(--flame-soft, light-dark(#5a6068, #a6abb2));
  --ground: var(--flame-ground, light-dark(#fffefb, #1c2024));
  --sunken: var(--flame-sunken, light-dark(#efece4, #101316));
  --line: var(--flame-line, light-dark(#dedad0, #333940));
  --line-strong: var(--flame-line-strong, light-dark(#8b8a83, #727a83));
  --accent: var(--flame-accent, light-dark(#1c5f4a, #7fd3b4));
  --on-accent: var(--flame-on-accent, light-dark(#ffffff, #0d1f18));
  --failure: var(--flame-failure, light-dark(#a8321f, #f29a87));
  --memory: var(--flame-memory, light-dark(#f0e0c6, #3d3120));
  --memory-line: var(--flame-memory-line, light-dark(#a06a22, #d9a25c));
  --font: var(--flame-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif);
  --mono: var(--flame-mono, ui-monospace, "SF Mono", "Cascadia Code", "Roboto Mono", "Liberation Mono", monospace);
  position: relative;
  display: flex;
  flex-direction: column;
  flex: 1;
  min-height: 0;
  font: 0.875rem/1.45 var(--font);
  color: var(--ink);
  background: var(--ground);
}
.bar {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem 0.75rem;
  padding: 0.5rem 0.75rem;
  border-bottom: 1px solid var(--line);
}
button, input {
  font: inherit;
  color: inherit;
}
button {
  cursor: pointer;
}
.bar button {
  min-height: 1.9rem;
  padding: 0.15rem 0.7rem;
  background: var(--ground);
  border: 1px solid var(--line-strong);
  border-radius: 0.375rem;
}
.bar button:hover:not(:disabled) {
  background: var(--sunken);
}
.bar button:disabled {
  color: var(--soft);
  border-color: var(--line);
  cursor: default;
}
.views {
  display: flex;
}
.views button {
  border-radius: 0;
  margin-left: -1px;
}
.views button:first-child {
  border-radius: 0.375rem 0 0 0.375rem;
  margin-left: 0;
}
.views button:last-child {
  border-radius: 0 0.375rem 0.375rem 0;
}
.views button[aria-pressed="true"], .views button[aria-pressed="true"]:hover {
  color: var(--on-accent);
  background: var(--accent);
  border-color: var(--accent);
}
.search {
  display: flex;
  flex: 1;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem;
}
.search input {
  flex: 1 1 11rem;
  max-width: 22rem;
  min-width: 8rem;
  min-height: 1.9rem;
  padding: 0.15rem 0.5rem;
  box-sizing: border-box;
  background: var(--ground);
  border: 1px solid var(--line-strong);
  border-radius: 0.375rem;
}
.search input::placeholder {
  color: var(--soft);
  opacity: 1;
}
.found {
  color: var(--soft);
  font-variant-numeric: tabular-nums;
}
:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 1px;
}
.path {
  display: flex;
  align-items: center;
  gap: 0.15rem;
  min-height: 1.9rem;
  padding: 0 0.75rem;
  overflow-x: auto;
  white-space: nowrap;
  border-bottom: 1px solid var(--line);
}
.path button {
  flex: none;
  padding: 0.1rem 0.35rem;
  max-width: 16rem;
  overflow: hidden;
  text-overflow: ellipsis;
  color: var(--accent);
  background: none;
  border: 0;
  border-radius: 0.25rem;
  font-family: var(--mono);
  font-size: 0.75rem;
}
.path button:hover {
  text-decoration: underline;
}
.path span {
  color: var(--soft);
}
.chart {
  position: relative;
  flex: 1;
  min-height: 8rem;
  overflow: hidden auto;
  touch-action: pan-y;
  cursor: pointer;
}
.chart:focus-visible {
  outline-offset: -2px;
}
canvas {
  position: sticky;
  top: 0;
  left: 0;
  display: block;
}
.spacer {
  min-height: 100%;
}
.details {
  flex: none;
  min-height: 4.6rem;
  max-height: 40%;
  overflow: auto;
  padding: 0.5rem 0.75rem;
  background: var(--sunken);
  border-top: 1px solid var(--line);
}
.details h3, .tip h3 {
  margin: 0 0 0.2rem;
  font: 600 0.8125rem/1.4 var(--mono);
  overflow-wrap: anywhere;
}
.details p {
  margin: 0;
  color: var(--soft);
}
dl {
  display: flex;
  flex-wrap: wrap;
  gap: 0.1rem 1.25rem;
  margin: 0;
}
dl div {
  display: flex;
  gap: 0.4rem;
}
dt {
  color: var(--soft);
}
dd {
  margin: 0;
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
.failure {
  color: var(--failure) !important;
  font-weight: 600;
  overflow-wrap: anywhere;
}
.tip {
  position: fixed;
  z-index: 10;
  max-width: min(26rem, 90vw);
  padding: 0.4rem 0.6rem;
  pointer-events: none;
  color: var(--ink);
  background: var(--ground);
  border: 1px solid var(--line-strong);
  border-radius: 0.375rem;
  box-shadow: 0 0.25rem 1rem rgb(0 0 0 / 18%);
}
.tip h3 {
  max-height: 4.2em;
  overflow: hidden;
}
.tip dl {
  flex-direction: column;
}
.functions {
  flex: 1;
  min-height: 0;
  overflow: auto;
}
table {
  border-collapse: collapse;
  width: 100%;
}
caption {
  padding: 0.5rem 0.75rem;
  text-align: start;
  color: var(--soft);
}
thead th {
  position: sticky;
  top: 0;
  background: var(--sunken);
}
th, td {
  padding: 0.25rem 0.75rem;
  text-align: start;
  vertical-align: top;
  border-bottom: 1px solid var(--line);
  font-weight: 400;
}
th.figure, td.figure {
  text-align: end;
  white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
th button {
  padding: 0;
  background: none;
  border: 0;
}
thead button {
  font-weight: 600;
}
[aria-sort="ascending"] button::after {
  content: " \\2191";
}
[aria-sort="descending"] button::after {
  content: " \\2193";
}
tbody th button {
  text-align: start;
  color: var(--accent);
  font: 0.8125rem/1.45 var(--mono);
  overflow-wrap: anywhere;
}
.source {
  color: var(--soft);
  font: 0.75rem/1.45 var(--mono);
  overflow-wrap: anywhere;
}
tbody th button:hover {
  text-decoration: underline;
}
.more {
  margin: 0.75rem;
  padding: 0.3rem 0.8rem;
  background: var(--ground);
  border: 1px solid var(--line-strong);
  border-radius: 0.375rem;
}
[hidden] {
  display: none !important;
}
@media (max-width: 40rem) {
  .search {
    flex-basis: 100%;
  }
}
`;
