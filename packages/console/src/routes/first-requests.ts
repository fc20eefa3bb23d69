import { maxPluginGuests, pluginApiPath } from '../pages/plugin/plugin-path.ts';
import { appApiPath } from '../pages/team/app-path.ts';
import { overviewPath } from '../pages/team/overview-path.ts';
import type { PageRoute } from './page-route.ts';

/** The API paths that a page requests first, from the parameters of the page's path. */
type ApiPathsOf = NonNullable<PageRoute['data']>;

export const appData: ApiPathsOf = ({ appId = '' }) => [appApiPath(appId)];

export const overviewData: ApiPathsOf = (params) => [...appData(params), overviewPath(params.appId ?? '')];

export const extensionPointData: ApiPathsOf = (params) => {
  const { extensionPointId = '' } = params;
  return [...appData(params), `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}`];
};

export const pluginData: ApiPathsOf = (params) => {
  const { extensionPointId = '', userId = '', name = '' } = params;
  return [
    ...extensionPointData(params),
    `${pluginApiPath(extensionPointId, userId, name)}?maxGuests=${maxPluginGuests}`,
  ];
};
