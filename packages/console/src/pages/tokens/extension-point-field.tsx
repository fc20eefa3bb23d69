import type { App, ExtensionPoint, ListPage } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';
import { SelectField } from '../../components/field.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';

/** Chooses an extension point of any application that the user can see. */
export function ExtensionPointField(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The label of the choice of none. */
  readonly none: string;
  readonly error?: string | undefined;
}) {
  const api = useApi();
  const found = useData((signal) => listExtensionPoints(api, signal), [api]);
  const options = found.status === 'ready' ? found.data : [];
  return (
    <SelectField
      label="Plugin’s extension point"
      name="extensionPointId"
      value={props.value}
      onChange={props.onChange}
      error={props.error}
      options={[{ value: '', label: props.none }, ...options]}
    />
  );
}

/** The number of applications whose extension points are offered. */
const maxApps = 20;

async function listExtensionPoints(api: ApiClient, signal: AbortSignal) {
  const query = { maxGuests: 1, sort: 'name', limit: maxApps };
  const apps = await api.get<ListPage<App>>('/api/v1/apps', { query, signal });
  const lists = await Promise.all(
    apps.objects.map(async ({ id, name }) => {
      const path = `/api/v1/apps/${id}/extension-points`;
      const { objects } = await api.get<ListPage<ExtensionPoint>>(path, { query: { schema: 'names' }, signal });
      return objects.map((point) => ({ value: point.id, label: `${name}: ${point.name}` }));
    }),
  );
  return lists.flat();
}
