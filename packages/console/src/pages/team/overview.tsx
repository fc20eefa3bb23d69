import type { App, ExtensionPoint, Guest } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiClient } from '../../api/client.ts';
import { serverUrl } from '../../base-path.ts';
import { LinkButton } from '../../components/button.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { ConflictDialog } from '../../components/conflict-dialog.tsx';
import { CopyText } from '../../components/copy-button.tsx';
import { DeleteSection } from '../../components/delete-section.tsx';
import { TextField } from '../../components/field.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { SubmitRow } from '../../components/submit-row.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { type EditedField, useEdit } from '../../state/use-edit.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { AppFrame } from './app-frame.tsx';
import { mayManage, mayOwn, roleWords, useApp } from './use-app.ts';

/** An application for its team: facts, next steps, rename, delete. */
export function AppOverviewPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Overview">
      {(data) => (
        <>
          <Facts app={data} />
          <NextSteps app={data} />
          {mayManage(data.role) ? (
            <Rename key={data.name} app={data} onRenamed={(renamed) => app.update(() => renamed)} />
          ) : null}
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

interface OnboardingState {
  readonly extensionPoint: ExtensionPoint | undefined;
  readonly guest: Guest | undefined;
}

/** Reads one of each, because there may be thousands. */
async function fetchOnboardingState(api: ApiClient, app: App, signal: AbortSignal): Promise<OnboardingState> {
  const first = async <T,>(of: string): Promise<T | undefined> =>
    (await api.get<{ objects: T[] }>(`/api/v1/apps/${app.id}/${of}`, { query: { limit: 1 }, signal })).objects[0];
  const [extensionPoint, guest] = await Promise.all([
    first<ExtensionPoint>('extension-points'),
    first<Guest>('guests'),
  ]);
  return { extensionPoint, guest };
}

function NextSteps({ app }: { readonly app: App }) {
  const { session } = useServices();
  const beginnings = useCachedData(`beginnings ${app.id}`, (signal) => fetchOnboardingState(session.api, app, signal));
  return (
    <Loaded of={beginnings}>
      {({ extensionPoint, guest }) => (
        <>
          {extensionPoint !== undefined && guest !== undefined ? null : (
            <Section title="Next steps">
              <ol class="steps">
                <Step
                  isDone={extensionPoint !== undefined}
                  title="Create an extension point"
                  text="Its schema defines what a plugin exports, and each function’s input and output."
                >
                  {mayManage(app.role) ? (
                    <LinkButton isSmall to={`/apps/${app.id}/extension-points/new`}>
                      New extension point
                    </LinkButton>
                  ) : null}
                </Step>
                <Step
                  isDone={guest !== undefined}
                  title="Invite a guest"
                  text="You choose a guest key for each customer. Guests can’t see it."
                >
                  {mayManage(app.role) ? (
                    <LinkButton
                      isSmall
                      kind={extensionPoint === undefined ? 'quiet' : 'primary'}
                      to={`/apps/${app.id}/guests`}
                    >
                      Invite a guest
                    </LinkButton>
                  ) : null}
                </Step>
              </ol>
            </Section>
          )}
          {extensionPoint === undefined ? null : <FromYourHost extensionPoint={extensionPoint} guest={guest} />}
        </>
      )}
    </Loaded>
  );
}

function Step(props: {
  readonly isDone: boolean;
  readonly title: string;
  readonly text: string;
  /** The button of the step. */
  readonly children: ComponentChildren;
}) {
  return (
    <li data-done={props.isDone ? '' : undefined}>
      <div>
        <h3>{props.title}</h3>
        <p>{props.text}</p>
      </div>
      {props.isDone ? null : props.children}
    </li>
  );
}

function FromYourHost({
  extensionPoint,
  guest,
}: {
  readonly extensionPoint: ExtensionPoint;
  readonly guest: Guest | undefined;
}) {
  // Percent-encoding leaves the apostrophe, which would end the shell's quotes.
  const guestKey = guest === undefined ? '<guest_key>' : encodeURIComponent(guest.guestKey).replaceAll("'", '%27');
  const bindings = `${serverUrl()}/api/v1/extension-points/${extensionPoint.id}/bindings/${guestKey}`;
  return (
    <Section
      title="In your host"
      intro={
        <>
          Two calls with an <Link to="/account/tokens">access token</Link>: which plugins a guest key has at “
          {extensionPoint.name}”, and then the bytes of each by its content address.
        </>
      }
    >
      <CommandBlock
        command={`curl -H "authorization: Bearer $TENON_TOKEN" \\\n  '${bindings}'`}
        what="the call that lists plugins"
      />
      <CommandBlock
        command={`curl -H "authorization: Bearer $TENON_TOKEN" -o plugin.wasm \\\n  '${serverUrl()}/api/v1/c/<content_address>'`}
        what="the call that fetches a plugin"
      />
    </Section>
  );
}

const nameFields = ({ name }: Pick<App, 'name'>): readonly EditedField[] => [{ label: 'Application name', text: name }];

function Rename({ app, onRenamed }: { readonly app: App; readonly onRenamed: (app: App) => void }) {
  const { session, toasts } = useServices();
  const [name, setName] = useState(app.name);
  const path = `/api/v1/apps/${app.id}`;
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

function Delete({ app }: { readonly app: App }) {
  return (
    <DeleteSection
      title="Delete application"
      intro="Permanently deletes everything in it."
      apiPath={`/api/v1/apps/${app.id}`}
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
