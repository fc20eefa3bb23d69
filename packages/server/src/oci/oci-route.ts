import { ociMediaTypes } from '@tenon/protocol';
import { routeTagged } from '../http/route.ts';
import { ociErrorFormat } from './oci-error.ts';

/* The parts that the declarations of OCI routes share. */

export const route = routeTagged('OCI');

export const repositoryPath = '/v2/:appId/:extensionPointId/:userId/:repository';

export const options = {
  errorFormat: ociErrorFormat,
  headers: () => ({ 'docker-distribution-api-version': 'registry/2.0' }),
};

/** The parameters of {@link repositoryPath}. */
interface RepositoryParams {
  readonly appId: string;
  readonly extensionPointId: string;
  readonly userId: string;
  readonly repository: string;
}

/** Returns the name of the repository in a path. */
export function nameOf({ appId, extensionPointId, userId, repository }: RepositoryParams): string {
  return `${appId}/${extensionPointId}/${userId}/${repository}`;
}

const descriptorExample = { mediaType: ociMediaTypes.config, digest: `sha256:${'0'.repeat(64)}`, size: 193 };

export const manifestExample = {
  schemaVersion: 2 as const,
  mediaType: ociMediaTypes.manifest,
  config: descriptorExample,
  layers: [{ ...descriptorExample, mediaType: ociMediaTypes.layer }],
};
