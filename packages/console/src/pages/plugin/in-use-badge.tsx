import type { Plugin } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { inUse } from './plugin-words.ts';

/** What is in use of a plugin: its versions have badges of their own, in its history. */
export function InUseBadge({ plugin }: { readonly plugin: Plugin }) {
  const { text, kind } = inUse(plugin);
  return <Badge kind={kind}>{text}</Badge>;
}
