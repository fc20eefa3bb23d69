import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { hasNavigated } from '../state/navigation.ts';
import { Link } from './link.tsx';

export interface Crumb {
  readonly label: string;
  readonly to: string;
}

/** The frame of every page: title, window title and content. After a navigation, the heading gets the focus. */
export function Page({
  title,
  windowTitle = title,
  intro,
  crumbs = [],
  actions,
  children,
}: {
  readonly title: string;
  /** The window title, if the heading alone is ambiguous. */
  readonly windowTitle?: string;
  readonly intro?: ComponentChildren;
  readonly crumbs?: readonly Crumb[];
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${windowTitle} · Tenon`;
  }, [windowTitle]);
  // Runs after the router has marked the navigation.
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      {crumbs.length === 0 ? null : <Breadcrumbs crumbs={crumbs} />}
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </div>
      {intro === undefined ? null : <p class="intro">{intro}</p>}
      {children}
    </>
  );
}

function Breadcrumbs({ crumbs }: { readonly crumbs: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Breadcrumbs">
      <ol>
        {crumbs.map(({ label, to }) => (
          <li key={to}>
            <Link to={to}>{label}</Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** A part of a page with a heading. */
export function Section({
  title,
  intro,
  actions,
  isBeside = false,
  children,
}: {
  readonly title: string;
  readonly intro?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Whether title and intro are next to the content on wide screens. */
  readonly isBeside?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <section class={isBeside ? 'section section-beside' : 'section'}>
      <div class="section-head">
        <h2>{title}</h2>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </div>
      {intro === undefined ? null : <p class="soft">{intro}</p>}
      <div class="section-body">{children}</div>
    </section>
  );
}
