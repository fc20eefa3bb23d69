import type { App } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { TextField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Link } from '../components/link.tsx';
import { ListView } from '../components/list-view.tsx';
import { Page } from '../components/page.tsx';
import { useAccount, useApi, useSession } from '../state/services.ts';
import { useLinkedDialog } from '../state/use-linked-dialog.ts';
import { useList } from '../state/use-list.ts';
import { useSubmit } from '../state/use-submit.ts';

/** The applications that the user is a member or a guest of. */
export function HomePage() {
  const apps = useList<App>('/api/v1/apps', { fixed: { maxGuests: '1' }, sort: 'name' });
  const making = useLinkedDialog('new', 'application');
  const { mayCreateApps } = useAccount();
  const make = mayCreateApps ? <Button onClick={making.open}>New application</Button> : undefined;
  return (
    <Page title="Applications" actions={apps.isEmpty ? undefined : make}>
      <ListView
        list={apps}
        caption="Applications"
        noun="application"
        searchHint="Application name"
        empty={
          <EmptyState title="No applications yet" action={make}>
            <p>
              {mayCreateApps
                ? 'An application is your product. Create one, define where plugins plug in, then invite the people who write them.'
                : 'An application is a product that plugins extend.'}{' '}
              If you have an invitation, open its link.
            </p>
            {mayCreateApps ? null : <Makers />}
          </EmptyState>
        }
      >
        {(rows) => <AppLists apps={rows} />}
      </ListView>
      {apps.isEmpty || mayCreateApps || apps.page.status !== 'ready' ? null : <Makers />}
      {making.isOpen && mayCreateApps ? <NewAppDialog onClose={making.close} /> : null}
    </Page>
  );
}

/** Says who can create applications. */
function Makers() {
  const { view } = useSession();
  if (view.status !== 'ready') return null;
  const who = view.createApps === 'operators' ? 'operators' : 'operators and members of a team';
  return <p class="soft">On this server, {who} create applications.</p>;
}

function AppLists({ apps }: { readonly apps: readonly App[] }) {
  const own = apps.filter(({ role }) => role !== 'guest');
  const guest = apps.filter(({ role }) => role === 'guest');
  return (
    <>
      {own.length === 0 ? null : <AppCards title="Your applications" apps={own} />}
      {guest.length === 0 ? null : <AppCards title="Applications you extend" apps={guest} />}
    </>
  );
}

function AppCards({ title, apps }: { readonly title: string; readonly apps: readonly App[] }) {
  return (
    <section class="section">
      <h2>{title}</h2>
      <ul class="cards">
        {apps.map(({ id, name, role, guests }) => (
          <li key={id} class="card-link">
            <Link to={role === 'guest' ? `/apps/${id}/my-plugins` : `/apps/${id}`}>{name}</Link>
            <span class="card-foot">
              <Badge>{role}</Badge>
              {role !== 'guest' && guests.length > 0 ? <Badge>guest</Badge> : null}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewAppDialog({ onClose }: { readonly onClose: () => void }) {
  const api = useApi();
  const { route } = useLocation();
  const [name, setName] = useState('');
  const form = useSubmit(async () => {
    const { id } = await api.post<App>('/api/v1/apps', { name });
    route(href(`/apps/${id}`));
  }, ['name']);
  return (
    <FormDialog title="New application" action="Create" form={form} onClose={onClose}>
      <TextField
        label="Name"
        name="name"
        value={name}
        onInput={setName}
        maxLength={200}
        error={form.fieldError('name')}
        hint="Your team and your guests see it. You can change it later."
        hasFocus
      />
    </FormDialog>
  );
}
