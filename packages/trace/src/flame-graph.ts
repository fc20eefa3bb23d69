export { type FlameGraphData, type FlameGraphOptions, flameGraphData } from './flame-graph/data.ts';
export { flameGraphHtml } from './flame-graph/html.ts';
