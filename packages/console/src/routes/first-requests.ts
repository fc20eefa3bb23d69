import { pluginApiPath } from '../pages/plugin/plugin-path.ts';
import type { PageRoute } from './page-route.ts';

/* The first requests of pages, by the parameters of their paths. */

type PathsOf = NonNullable<PageRoute['data']>;

export const appData: PathsOf = ({ appId = '' }) => [`/api/v1/apps/${encodeURIComponent(appId)}`];

export const extensionPointData: PathsOf = (params) => {
  const { extensionPointId = '' } = params;
  return [...appData(params), `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}`];
};

export const pluginData: PathsOf = (params) => {
  const { extensionPointId = '', userId = '', name = '' } = params;
  return [...extensionPointData(params), pluginApiPath(extensionPointId, userId, name)];
};
