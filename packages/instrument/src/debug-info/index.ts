export { createSourceLookup } from './create-source-lookup.ts';
export { type DebugInfo, findDebugInfo } from './find-debug-info.ts';
export type { LineRange, SourceLocation, SourceLookup, SourceLookupOptions } from './source-lookup.ts';
