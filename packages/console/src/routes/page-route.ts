import type { ComponentType } from 'preact';

/** A page: where it is, who may see it, and how its code is loaded. */
export interface PageRoute {
  /** Without the path prefix; `:name` stands for a segment. */
  readonly path: string;
  /** `signedIn`: who isn't signs in first, in the same place, and then sees it. */
  readonly access: 'anyone' | 'signedIn';
  /** Whether it stands alone, without the navigation around it: pages on which one does one thing and goes. */
  readonly isBare?: true;
  /**
   * Whether it needs a document of its own: one that the server answers with other headers than the rest, so that it may run modules.
   * The browser loads it anew when one comes to it or leaves it.
   */
  readonly isOwnDocument?: boolean;
  /**
   * Returns the API paths of the data that the page requests first. They are requested before the page's code is loaded, with the
   * scope `read`. The page must request exactly these paths.
   */
  readonly data?: (params: Readonly<Record<string, string>>) => readonly string[];
  readonly load: () => Promise<ComponentType>;
}
