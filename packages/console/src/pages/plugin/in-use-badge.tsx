import type { Plugin } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { inUse } from './plugin-words.ts';

/** A plugin's active versions. */
export function InUseBadge({ plugin }: { readonly plugin: Plugin }) {
  const { text, kind } = inUse(plugin);
  return <Badge kind={kind}>{text}</Badge>;
}
