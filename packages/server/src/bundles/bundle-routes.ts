import { extensionPointAttestation } from '@tenon/protocol';
import { extensionPointAttestationExample } from '../http/examples.ts';
import { disconnectSignal } from '../http/reply.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import { attestExtensionPoint } from './extension-point-attestation.ts';

const route = routeTagged('Extension points');

export const bundleRoutes: readonly Route[] = [
  route('GET', '/api/v1/extension-points/:extensionPointId/attestation', {
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    id: 'attestExtensionPoint',
    summary: "Read the server's attestation of an extension point and its bindings",
    description:
      'For members. The digest is the SHA-256 over lines of canonical JSON: the extension point, then each binding. Equal states have ' +
      'equal bytes.',
    responses: { 200: json('the attestation', extensionPointAttestation, extensionPointAttestationExample) },
    handle: async ({ deps }, { auth }, reply) => {
      const signal = disconnectSignal(reply.response);
      const { predicate, bundle } = await attestExtensionPoint(deps, auth.access.extensionPoint, signal);
      return { predicate, bundle: JSON.parse(bundle) };
    },
  }),
];
