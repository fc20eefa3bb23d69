import type { PluginStatus } from '@tenon/protocol';

/** A state as people say it: `awaiting approval`. */
export function stateInWords(state: PluginStatus['state']): string {
  return state.replaceAll('_', ' ');
}
