import { defineConfig } from 'vite';

/** Browsers of 2024 and later: `light-dark()`, native nesting and <dialog> stay as they are written. */
const browsers = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

// biome-ignore lint/style/noDefaultExport: Vite looks for one
export default defineConfig({
  base: './', // the server says where `./` is, by <base href>: it may be below a path
  publicDir: 'public', // files that browsers and crawlers ask for by name
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: browsers,
    cssTarget: browsers,
    assetsInlineLimit: 0, // the policy of the page allows no data: for scripts or fonts
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: 'manifest.json',
    rolldownOptions: { checks: { pluginTimings: false } }, // no warning on a slow machine
  },
});
