import type { ComponentType } from 'preact';

/** A page: its path, its access, its first requests, and its code. */
export interface PageRoute {
  /** The path without the prefix; `:name` matches a segment. */
  readonly path: string;
  /** `signedIn`: without a session, the sign-in form replaces the page. */
  readonly access: 'anyone' | 'signedIn';
  /** Whether it has no navigation. For pages with a single task. */
  readonly isBare?: true;
  /**
   * Whether the server sends its document with other headers, so that it may run modules. The browser then loads a new document on
   * the way to it and from it.
   */
  readonly isOwnDocument?: boolean;
  /**
   * Returns the API paths of the data that the page requests first. They are requested before the page's code is loaded, with the
   * scope `read`. The page must request exactly these paths.
   */
  readonly data?: (params: Readonly<Record<string, string>>) => readonly string[];
  readonly load: () => Promise<ComponentType>;
}
