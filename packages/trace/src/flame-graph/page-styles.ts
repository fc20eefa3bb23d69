/** The styles of the page around the viewer. */
export const pageStyles = `
:root { color-scheme: light dark; }
body {
  display: flex;
  flex-direction: column;
  height: 100vh;
  height: 100dvh;
  margin: 0;
  font: 0.875rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  color: light-dark(#1d2125, #e9e6e0);
  background: light-dark(#f7f5f0, #14171a);
}
header {
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  gap: 0 1rem;
  padding: 0.6rem 0.75rem 0.5rem;
}
h1 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; max-height: 4.5em; overflow: hidden; }
header p { margin: 0; color: light-dark(#5a6068, #a6abb2); }
#flame-graph { flex: 1; min-height: 0; }
#flame-graph > p { margin: 1rem 0.75rem; }
@media (max-height: 26rem) {
  body { height: auto; }
  #flame-graph { height: 26rem; flex: none; }
}
`;
