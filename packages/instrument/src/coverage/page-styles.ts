/** The styles of the pages. The colours are those of flame graphs. */
export const coverageStyles = `
:root { color-scheme: light dark; }
body {
  margin: 0;
  font: 0.875rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  color: light-dark(#1d2125, #e9e6e0);
  background: light-dark(#f7f5f0, #14171a);
}
header, main { padding: 0.6rem 1rem; max-width: 80rem; margin: 0 auto; }
h1 { margin: 0; font-size: 1.25rem; overflow-wrap: anywhere; }
nav { margin: 0 0 0.25rem; overflow-wrap: anywhere; }
a { color: light-dark(#1c5f4a, #7fd3b4); }
:focus-visible { outline: 2px solid light-dark(#1c5f4a, #7fd3b4); outline-offset: 1px; }
dl { display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; margin: 0.5rem 0; }
dt { color: light-dark(#5a6068, #a6abb2); }
dd { margin: 0; font-size: 1.05rem; font-variant-numeric: tabular-nums; }
p { margin: 0.5rem 0; color: light-dark(#5a6068, #a6abb2); }
.scroll { overflow-x: auto; border: 1px solid light-dark(#dedad0, #333940); border-radius: 0.375rem; margin: 0.75rem 0; }
table { border-collapse: collapse; width: 100%; background: light-dark(#fffefb, #1c2024); }
caption { padding: 0.4rem 0.75rem; text-align: start; color: light-dark(#5a6068, #a6abb2); }
th, td {
  padding: 0.25rem 0.75rem;
  text-align: start;
  font-weight: 400;
  border-top: 1px solid light-dark(#dedad0, #333940);
}
thead th { font-weight: 600; background: light-dark(#efece4, #101316); }
.number { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.name { font-family: ui-monospace, "SF Mono", "Cascadia Code", "Roboto Mono", "Liberation Mono", monospace; }
.list .name { overflow-wrap: anywhere; min-width: 12rem; }
.bar { display: inline-block; vertical-align: middle; width: 6rem; height: 0.5rem; margin-inline-start: 0.75rem; }
.bar rect:first-child { fill: light-dark(#e4b3a8, #6b3a31); }
.bar rect:last-child { fill: light-dark(#1c5f4a, #7fd3b4); }
.lines th, .lines td { border: 0; padding: 0 0.75rem; line-height: 1.5; }
.lines thead th { padding: 0.25rem 0.75rem; }
.lines tbody th { color: light-dark(#5a6068, #a6abb2); user-select: none; }
.lines pre { margin: 0; font: 0.8125rem/1.5 ui-monospace, "SF Mono", "Cascadia Code", "Roboto Mono", "Liberation Mono", monospace; tab-size: 4; }
.lines td:last-child { width: 100%; }
.missed { background: light-dark(#fbe3dd, #432019); }
.missed th { color: inherit; }
.missed .number { font-weight: 600; color: light-dark(#8f2413, #ffb4a3); }
.lines .missed a { color: inherit; }
tr:target { outline: 2px solid light-dark(#1c5f4a, #7fd3b4); outline-offset: -2px; }
details { margin: 0.75rem 0; }
summary { cursor: pointer; }
@media (max-width: 40rem) {
  header, main { padding: 0.5rem; }
  .bar { display: none; }
  th, td { padding: 0.25rem 0.4rem; }
  .lines th, .lines td { padding: 0 0.4rem; }
}
`;

/** The digest of the styles as a Content-Security-Policy has it. A test compares them. */
export const coverageStylesHash = 'sha256-A6oMFJ2kcZU+ZZbNYFqTKwxbkOuSbFsma58reMKdj5Y=';
