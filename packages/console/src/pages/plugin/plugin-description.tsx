/** A plugin's description in a list. */
export function PluginDescription({ text }: { readonly text: string | null }) {
  return text === null ? null : <span class="plugin-description soft small">{text}</span>;
}
