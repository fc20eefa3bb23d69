import { type Change, effectOf, type PluginModel } from './plugin-model.ts';
import { boundWords, sortEffects } from './plugin-words.ts';
import './effects.css';

/** So many guests are told one by one. */
const shownEffects = 8;

/** What a change would do to what is bound, guest by guest. */
export function Effects(props: {
  readonly model: PluginModel;
  readonly change: Change;
  /** What to call the guests, by id. */
  readonly guests: ReadonlyMap<string, string>;
}) {
  const { changing, staying } = sortEffects(effectOf(props.model, props.change));
  const unlisted = props.model.hasMoreGuests ? (
    <p class="soft small">
      The plugin has more guests than are listed here. Under the others, something may change too.
    </p>
  ) : null;
  if (changing.length === 0) {
    return (
      <div class="effects">
        <p>What programs get {unlisted === null ? '' : 'under the listed guests '}stays as it is.</p>
        {unlisted}
      </div>
    );
  }
  const more = changing.length - shownEffects;
  return (
    <div class="effects">
      <p>What programs get then:</p>
      <ul>
        {changing.slice(0, shownEffects).map(({ guestId, before, after }) => (
          <li key={guestId}>
            <span class="effect-guest">{props.guests.get(guestId) ?? 'a guest that is gone'}</span>
            <span>
              {boundWords(before)} <span aria-hidden="true">→</span>
              <span class="visually-hidden">becomes</span> <strong>{boundWords(after)}</strong>
            </span>
          </li>
        ))}
      </ul>
      {more > 0 ? <p class="soft small">And so for {more} more.</p> : null}
      {staying === 0 ? null : (
        <p class="soft small">Nothing changes under {staying === 1 ? 'one other guest' : `${staying} other guests`}.</p>
      )}
      {unlisted}
    </div>
  );
}
