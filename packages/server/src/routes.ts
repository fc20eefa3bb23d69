import { accountDeletionRoutes } from './apps/account-deletion-routes.ts';
import { appRoutes } from './apps/app-routes.ts';
import { bulkInvitationRoutes } from './apps/bulk-invitation-routes.ts';
import { guestRoutes } from './apps/guest-routes.ts';
import { invitationRoutes } from './apps/invitation-routes.ts';
import { memberRoutes } from './apps/member-routes.ts';
import { providerCallbackRoutes } from './apps/provider-callback-routes.ts';
import { userRoutes } from './apps/user-routes.ts';
import { signingKeyRoutes } from './attestations/signing-key-routes.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { accountRoutes } from './auth/account-routes.ts';
import { credentialRoutes } from './auth/credential-routes.ts';
import { mailedLinkRoutes } from './auth/mailed-link-routes.ts';
import { oauthRoutes } from './auth/oauth/oauth-routes.ts';
import { providerRoutes } from './auth/oidc/provider-routes.ts';
import { passkeyRoutes } from './auth/passkeys/passkey-routes.ts';
import { quotaRoutes } from './auth/quota-routes.ts';
import { sessionAuthorizationRoutes } from './auth/session-authorization-routes.ts';
import { sessionRoutes } from './auth/session-routes.ts';
import { tokenRoutes } from './auth/token-routes.ts';
import { trustRuleRoutes } from './auth/trusted-publishing/trust-rule-routes.ts';
import { bundleRoutes } from './bundles/bundle-routes.ts';
import { callReportRoutes } from './call-reports/call-report-routes.ts';
import { changeRoutes } from './changes/change-routes.ts';
import { consoleRoutes } from './console/console-routes.ts';
import { docsRoutes } from './docs/docs-routes.ts';
import { referenceRoutes } from './http/reference-routes.ts';
import type { Route } from './http/route.ts';
import { instrumentRoutes } from './instrument/instrument-routes.ts';
import { ociPushRoutes } from './oci/oci-push-routes.ts';
import { ociRoutes } from './oci/oci-routes.ts';
import { healthRoutes } from './ops/status/health-routes.ts';
import { statusRoutes } from './ops/status/status-routes.ts';
import { packageRoutes } from './packages/package-routes.ts';
import { attestationRoutes } from './plugins/attestation-routes.ts';
import { bindingRoutes } from './plugins/binding-routes.ts';
import { contentRoutes } from './plugins/content-routes.ts';
import { extensionPointRoutes } from './plugins/extension-point-routes.ts';
import { hostControlRoutes } from './plugins/host-control-routes.ts';
import { massYankRoutes } from './plugins/mass-yank-routes.ts';
import { pluginRoutes } from './plugins/plugin-routes.ts';
import { rollOutRoutes } from './plugins/roll-outs/roll-out-routes.ts';
import { versionRoutes } from './plugins/version-routes.ts';
import { simulationRoutes } from './simulations/simulation-routes.ts';
import { simulationRunRoutes } from './simulations/simulation-run-routes.ts';
import { usageRoutes } from './usage/usage-routes.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';

export const allRoutes: readonly Route[] = [
  ...bindingRoutes,
  ...changeRoutes,
  ...contentRoutes,
  ...pluginRoutes,
  ...versionRoutes,
  ...rollOutRoutes,
  ...attestationRoutes,
  ...signingKeyRoutes,
  ...simulationRunRoutes,
  ...ociRoutes,
  ...ociPushRoutes,
  ...hostControlRoutes,
  ...massYankRoutes,
  ...appRoutes,
  ...memberRoutes,
  ...quotaRoutes,
  ...extensionPointRoutes,
  ...bundleRoutes,
  ...simulationRoutes,
  ...guestRoutes,
  ...bulkInvitationRoutes,
  ...invitationRoutes,
  ...tokenRoutes,
  ...trustRuleRoutes,
  ...accountRoutes,
  ...credentialRoutes,
  ...accountDeletionRoutes,
  ...userRoutes,
  ...auditRoutes,
  ...webhookRoutes,
  ...usageRoutes,
  ...callReportRoutes,
  ...sessionRoutes,
  ...passkeyRoutes,
  ...providerRoutes,
  ...providerCallbackRoutes,
  ...mailedLinkRoutes,
  ...oauthRoutes,
  ...sessionAuthorizationRoutes,
  ...instrumentRoutes,
  ...packageRoutes,
  ...consoleRoutes,
  ...healthRoutes,
  ...statusRoutes,
  ...referenceRoutes,
  ...docsRoutes,
];

/** Returns the routes to serve: all, or only those of the instrumentation area and of both areas. */
export function routesOf(only: 'instrument' | undefined): readonly Route[] {
  if (only === undefined) return allRoutes;
  return allRoutes.filter(({ area = 'distribution' }) => area !== 'distribution');
}
