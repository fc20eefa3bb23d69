import { useLocation } from 'preact-iso/router';
import { basePath, href } from '../base-path.ts';

export interface Tab {
  readonly label: string;
  readonly to: string;
  /** The paths of further pages that belong to it. */
  readonly parts?: readonly string[];
  /** The number of items that need attention. */
  readonly count?: string | undefined;
}

/** The parts of something, a page each: links, so that each has an address and the browser's own keys work. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const { path } = useLocation();
  const here = path.startsWith(basePath) ? `/${path.slice(basePath.length)}` : path;
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {tabs.map((tab) => (
          <li key={tab.to}>
            <a
              href={href(tab.to)}
              aria-current={here === tab.to ? 'page' : tab.parts?.includes(here) ? 'true' : undefined}
            >
              {tab.label}
              {tab.count === undefined ? null : (
                <span class="tab-count">
                  {tab.count}
                  <span class="visually-hidden"> awaiting approval</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
