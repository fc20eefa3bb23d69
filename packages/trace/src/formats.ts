export { formatDuration, formatPages } from './format.ts';
export { type ChromeTraceOptions, chromeTrace } from './formats/chrome-trace.ts';
export { type FoldedStacksOptions, foldedStacks } from './formats/folded-stacks.ts';
export { heapPprof, type PprofOptions, pprof, type TimePprofOptions } from './formats/pprof.ts';
export { type SpeedscopeOptions, speedscope } from './formats/speedscope.ts';
export { type TreeTextOptions, treeText } from './formats/tree-text.ts';
export { sourceLabel } from './source-label.ts';
