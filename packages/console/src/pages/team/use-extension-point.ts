import { useRoute } from 'preact-iso/router';

/** The paths of the extension point in the page's URL: in the API, of its page, and of the list. */
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
