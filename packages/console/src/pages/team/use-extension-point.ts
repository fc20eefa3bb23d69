import { useRoute } from 'preact-iso/router';

/** Where the extension point is that the page's address names: in the API, in the console, and the list it is in. */
export function useExtensionPointPath(): {
  readonly apiPath: string;
  readonly pagePath: string;
  readonly listPath: string;
} {
  const { appId = '', extensionPointId = '' } = useRoute().params;
  const listPath = `/apps/${appId}/extension-points`;
  return {
    apiPath: `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}`,
    pagePath: `${listPath}/${extensionPointId}`,
    listPath,
  };
}
