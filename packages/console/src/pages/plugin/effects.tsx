import type { DryRun } from '@tenon/protocol';
import { counted } from '../../components/count.ts';
import { Loaded } from '../../components/loaded.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { dryRun, type PluginAction } from './plugin-action.ts';
import { versionWords } from './plugin-words.ts';
import './effects.css';

/** With more changes, guests with the same change share a line. */
const maxGuestLines = 8;

/** What to call guests, by id, where the server does not return their keys. */
export type GuestNames = ReadonlyMap<string, string> | undefined;

/** What an action would change for hosts, according to the server. */
export function Effects({ action, guests }: { readonly action: PluginAction; readonly guests: GuestNames }) {
  const api = useApi();
  const effects = useData((signal) => dryRun(api, action, signal), [JSON.stringify(action)]);
  return (
    <div class="effects" aria-live="polite">
      <Loaded of={effects} lines={2}>
        {(data) => <EffectList effects={data} guests={guests} />}
      </Loaded>
    </div>
  );
}

function EffectList({ effects, guests }: { readonly effects: DryRun; readonly guests: GuestNames }) {
  const { changed, unchanged, changes, outcomes, hasMore } = effects;
  const names = new Set(outcomes.map(({ pluginName }) => pluginName));
  const lines =
    changed <= maxGuestLines
      ? changes.map(({ guestId, guestKey, ...change }) => ({
          ...change,
          label: guestKey ?? guests?.get(guestId) ?? 'another guest',
        }))
      : outcomes.map(({ guests: count, ...change }) => ({ ...change, label: counted(count, 'guest') }));
  return (
    <>
      <p>{changed === 0 ? 'No change for hosts.' : 'After this, hosts get:'}</p>
      {changed === 0 ? null : (
        <ul>
          {lines.map(({ label, pluginName, before, after }) => (
            <li key={`${pluginName} ${label} ${before} ${after}`}>
              <span class="effect-guest">
                {label}
                {names.size === 1 ? null : <span class="soft"> ({pluginName})</span>}
              </span>
              <span>
                {versionWords(before)} <span aria-hidden="true">→</span>
                <span class="visually-hidden">becomes</span> <strong>{versionWords(after)}</strong>
              </span>
            </li>
          ))}
        </ul>
      )}
      {changed === 0 || unchanged === 0 ? null : (
        <p class="soft small">No change for {counted(unchanged, 'other guest')}.</p>
      )}
      {hasMore ? <p class="soft small">The server checked the first 1,000 guests. There are more.</p> : null}
    </>
  );
}
