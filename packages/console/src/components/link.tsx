import type { ComponentChildren } from 'preact';
import { href } from '../base-path.ts';

/** A link to a page of the console, by its path without the prefix. */
export function Link(props: {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** Something to do on the way. */
  readonly onClick?: () => void;
}) {
  return (
    <a href={href(props.to)} class={props.class} onClick={props.onClick}>
      {props.children}
    </a>
  );
}
