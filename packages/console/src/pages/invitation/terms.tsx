import type { InvitationPreview } from '@tenon/protocol';

/** What it means to accept the invitation; of the rules in `docs/reference/http-api.md`, who may do what. */
export function Terms({ preview: { app, role, invitedBy, guestLabel } }: { readonly preview: InvitationPreview }) {
  if (role === 'guest') return <GuestTerms appName={app.name} label={guestLabel} />;
  return (
    <div class="terms stack">
      <p>
        <strong>{invitedBy ?? 'The team'}</strong> invites you to the team of <strong>{app.name}</strong>, as{' '}
        <strong>{role}</strong>. You will be able to
      </p>
      <ul class="ticks">
        {memberTerms[role].map((term) => (
          <li key={term}>{term}</li>
        ))}
      </ul>
      <p class="soft small">
        The team sees your name, not your e‑mail address. You can leave at any time, and owners can change your role or
        remove you.
      </p>
    </div>
  );
}

const seesEverything = 'see the application’s guests, plugins and extension points, and fetch plugins for a host';
const manages = 'manage extension points, guests and invitations, and decide on plugins';

const memberTerms = {
  viewer: [seesEverything],
  admin: [seesEverything, manages],
  owner: [seesEverything, manages, 'change the team, and delete the application'],
} as const;

function GuestTerms({ appName, label }: { readonly appName: string; readonly label: string | null }) {
  return (
    <div class="terms stack">
      <p>
        As a guest
        {label === null ? null : (
          <>
            {' '}
            for <strong>{label}</strong>
          </>
        )}{' '}
        you will be able to
      </p>
      <ul class="ticks">
        <li>see the application’s extension points and what a plugin for each must export</li>
        <li>
          publish plugins of your own, which <strong>{appName}</strong> may then run
        </li>
        <li>see and download the plugins that you published</li>
      </ul>
      <p class="soft small">
        You won’t see other guests or their plugins. The team sees your name and your plugins, not your e‑mail address,
        and can end your access at any time.
      </p>
    </div>
  );
}
