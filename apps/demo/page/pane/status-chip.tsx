import { type VNode } from 'preact';

/** The status of a reply, as text in the colour of its class. */
export function StatusChip({ status, text }: { readonly status: number; readonly text: string }): VNode {
  return (
    <span class="chip" data-class={String(status).charAt(0)}>
      {text}
    </span>
  );
}
