import type { App } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { LinkButton } from '../../components/button.tsx';
import { ConflictDialog } from '../../components/conflict-dialog.tsx';
import { CopyText } from '../../components/copy-button.tsx';
import { DeleteSection } from '../../components/delete-section.tsx';
import { TextField } from '../../components/field.tsx';
import { Section } from '../../components/page.tsx';
import { QuotasSection } from '../../components/quotas/quotas-section.tsx';
import { SubmitRow } from '../../components/submit-row.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { type EditedField, useEdit } from '../../state/use-edit.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { AppFrame } from './app-frame.tsx';
import { appApiPath } from './app-path.ts';
import { HostSample } from './host-sample.tsx';
import { mayManage, mayOwn, roleWords, useApp } from './use-app.ts';
import { useOverview } from './use-overview.ts';

/** An application's facts, the sample code for its hosts, its name, and its deletion. */
export function AppSettingsPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Settings">
      {(data) => (
        <>
          <Facts app={data} />
          <InYourHost app={data} />
          {mayManage(data.role) ? (
            <Rename key={data.name} app={data} onRenamed={(renamed) => app.update(() => renamed)} />
          ) : null}
          {mayOwn(data.role) ? <Passkeys app={data} onChanged={(changed) => app.update(() => changed)} /> : null}
          <Section
            isBeside
            title="Stolen credentials"
            intro="Withdraw everything that a token or a publisher published, and see blocked publishers."
          >
            <LinkButton kind="quiet" to={`/apps/${data.id}/withdraw`}>
              Withdraw by credential
            </LinkButton>
          </Section>
          <Section isBeside title="Trusted publishing" intro="The rules by which CI jobs publish plugins.">
            <LinkButton kind="quiet" to={`/apps/${data.id}/trusted-publishing`}>
              View rules
            </LinkButton>
          </Section>
          {mayOwn(data.role) ? (
            <Section isBeside title="Webhooks" intro="Send the events of the audit trail to URLs.">
              <LinkButton kind="quiet" to={`/apps/${data.id}/webhooks`}>
                Manage webhooks
              </LinkButton>
            </Section>
          ) : null}
          {data.role === 'guest' ? null : (
            <QuotasSection
              path={`${appApiPath(data.id)}/quotas`}
              intro="What the application may use. At 80 and 95 % its owners get a mail."
            />
          )}
          {mayOwn(data.role) ? <Delete app={data} /> : null}
        </>
      )}
    </AppFrame>
  );
}

function Facts({ app }: { readonly app: App }) {
  return (
    <dl class="facts">
      <div>
        <dt>Application id</dt>
        <dd>
          <CopyText text={app.id} what="the application id" />
        </dd>
      </div>
      <div>
        <dt>Your access</dt>
        <dd>
          {app.role}
          {app.role === 'guest' ? null : <span class="soft small"> – {roleWords[app.role]}</span>}
          {app.role !== 'guest' && app.guests.length > 0 ? (
            <>
              , guest <span class="soft small">– publishes plugins</span>
            </>
          ) : null}
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time at={app.createdAt} />
        </dd>
      </div>
    </dl>
  );
}

function InYourHost({ app }: { readonly app: App }) {
  const overview = useOverview(app.id);
  if (overview.status !== 'ready' || overview.data.example.extensionPoint === null) return null;
  return (
    <Section title="In your host" intro="How your application fetches plugins.">
      <HostSample example={overview.data.example} />
    </Section>
  );
}

const nameFields = ({ name }: Pick<App, 'name'>): readonly EditedField[] => [{ label: 'Application name', text: name }];

function Rename({ app, onRenamed }: { readonly app: App; readonly onRenamed: (app: App) => void }) {
  const { session, toasts } = useServices();
  const [name, setName] = useState(app.name);
  const path = appApiPath(app.id);
  const edit = useEdit(app, () => session.api.get<App>(path), nameFields);
  const form = useSubmit(async () => {
    onRenamed(await edit.save((basedOn) => session.api.put<App>(path, { name }, { basedOn })));
    toasts.show('Application renamed.');
  }, ['name']);
  return (
    <Section isBeside title="Name" intro="Visible to your team and your guests.">
      <form onSubmit={form.submit} class="form-narrow">
        <TextField
          label="Application name"
          name="name"
          value={name}
          onInput={setName}
          maxLength={200}
          error={form.fieldError('name')}
        />
        <SubmitRow
          form={form}
          action="Rename"
          kind="quiet"
          isDisabled={name.trim() === '' || name === edit.base.name}
        />
      </form>
      <ConflictDialog
        conflict={edit.conflict}
        fieldsOf={nameFields}
        mine={nameFields({ name })}
        onKeep={edit.rebase}
        onDiscard={() => {
          if (edit.conflict !== undefined) onRenamed(edit.conflict.now);
        }}
      />
    </Section>
  );
}

function Passkeys({ app, onChanged }: { readonly app: App; readonly onChanged: (app: App) => void }) {
  const { session, toasts } = useServices();
  const { requiresPasskey } = app;
  const form = useSubmit(async () => {
    const json = { requiresPasskey: !requiresPasskey };
    onChanged(await session.api.put<App>(appApiPath(app.id), json));
    toasts.show(requiresPasskey ? 'Members need no passkey.' : 'Members need a passkey.');
  });
  return (
    <Section
      isBeside
      title="Passkeys"
      intro={
        requiresPasskey
          ? 'Members need a passkey. Sessions that used none, and tokens of members without one, are refused here.'
          : 'Require passkeys of members: sessions that used none, and tokens of members without one, are then refused here. Guests are not affected.'
      }
    >
      <form onSubmit={form.submit} class="form-narrow">
        <SubmitRow form={form} action={requiresPasskey ? 'Stop requiring passkeys' : 'Require passkeys'} kind="quiet" />
      </form>
    </Section>
  );
}

function Delete({ app }: { readonly app: App }) {
  return (
    <DeleteSection
      title="Delete application"
      intro="Permanently deletes everything in it."
      apiPath={`/api/v1/apps/${app.id}`}
      isUsedByHosts
      typed={app.name.trim()}
      next="/"
      done="Application deleted."
    >
      <p>
        This also deletes its extension points, guests, invitations, plugins, and access tokens limited to it. Hosts
        receive nothing from it.
      </p>
    </DeleteSection>
  );
}
