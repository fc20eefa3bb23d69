export type { View } from './flame-graph/viewer/bar.ts';
export { type MountedFlameGraph, mountFlameGraph } from './flame-graph/viewer/mount.ts';
