// The script of the page of flameGraphHtml(), bundled into ../viewer-bundle.ts.
import type { FlameGraphData } from '../data.ts';
import { mountFlameGraph } from './mount.ts';

const data = document.getElementById('trace')?.textContent;
const place = document.getElementById('flame-graph');
if (place !== null && data) {
  place.replaceChildren();
  mountFlameGraph(place, JSON.parse(data) as FlameGraphData).focus();
}
