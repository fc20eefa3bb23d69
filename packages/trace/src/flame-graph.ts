export { type FlameGraphData, type FlameGraphOptions, flameGraphData } from './flame-graph/data.ts';
export { flameGraphHtml, flameGraphPage } from './flame-graph/html.ts';
