import type { InvitationStatus } from '@tenon/protocol';
import { type Html, html } from './html.ts';

/** The pages behind an invitation link. None of them knows the guest key. */

export interface Page {
  readonly title: string;
  readonly body: Html;
}

export function invitationForm(
  invitation: { readonly appName: string; readonly code: string; readonly expiresAt: Date },
  fault?: string,
): Page {
  const alert = fault === undefined ? html`` : html`<p role="alert">${fault}</p>`;
  const day = invitation.expiresAt.toISOString().slice(0, 10);
  return {
    title: `Invitation to ${invitation.appName}`,
    body: html`<h1>${invitation.appName} invites you to publish plugins</h1>
${alert}
<p>When you accept, you become a guest of the application: you see its extension points and publish plugins for them.</p>
<form method="post">
<input type="hidden" name="code" value="${invitation.code}">
<label for="token">Your access token</label>
<input id="token" name="token" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" required
 placeholder="tnn_…" aria-describedby="token-hint">
<p class="soft" id="token-hint">It tells who accepts. It needs the scope <code>publish</code>, and is not stored here.</p>
<div class="actions">
<button name="decision" value="accept">Accept</button>
<button name="decision" value="decline" class="quiet">Decline</button>
</div>
<p class="soft">The invitation works once, until ${day} (UTC).</p>
</form>`,
  };
}

export function acceptedPage(appName: string): Page {
  return {
    title: 'Invitation accepted',
    body: html`<h1>You are a guest of ${appName} now</h1>
<p>Nothing is published by that. Publish a plugin with <code>tenon plugin push</code>, or through the HTTP interface.</p>
<p class="soft">You can close this page.</p>`,
  };
}

export function declinedPage(appName: string): Page {
  return {
    title: 'Invitation declined',
    body: html`<h1>You declined the invitation of ${appName}</h1>
<p>If that was a mistake, ask those who invited you for another one.</p>`,
  };
}

/** What to tell somebody whose invitation can't be accepted any more. */
export function settledPage(status: Exclude<InvitationStatus, 'pending'>): Page {
  const told = {
    accepted: [
      'This invitation has been accepted already',
      'If that was you, there is nothing left to do. If it was not, ask those who invited you for another one.',
    ],
    declined: ['This invitation has been declined', 'A link works once. Ask those who invited you for another one.'],
    expired: [
      'This invitation has expired',
      'Links work for some days only. Ask those who invited you for another one.',
    ],
    revoked: [
      'This invitation has been revoked',
      'Those who made it took it back. Ask them if you think that it was a mistake.',
    ],
  }[status];
  return messagePage(told[0] ?? '', told[1] ?? '');
}

export function unknownPage(): Page {
  return messagePage(
    'There is no such invitation',
    'Check that you opened the whole link: programs sometimes break long ones. If you did, ask for another one.',
  );
}

export function messagePage(title: string, text: string): Page {
  return {
    title,
    body: html`<h1>${title}</h1>
<p>${text}</p>`,
  };
}
