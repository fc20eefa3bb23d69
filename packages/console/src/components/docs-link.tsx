import type { ComponentChildren } from 'preact';
import { href } from '../base-path.ts';

/** A link to the server's documentation, in a tab of its own: what the user has typed here stays. */
export function DocsLink(props: {
  /** The path below `/docs/`, such as `how-to/log-in#several-servers`; empty for the index. */
  readonly page: string;
  readonly children: ComponentChildren;
}) {
  return (
    <a href={href(props.page === '' ? '/docs' : `/docs/${props.page}`)} target="_blank" rel="noreferrer">
      {props.children}
    </a>
  );
}
