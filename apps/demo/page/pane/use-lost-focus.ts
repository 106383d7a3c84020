import { type RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Focuses a button that replaces the pressed one, unless another element has the focus. */
export function useLostFocus(): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) button.current?.focus({ preventScroll: true });
  }, []);
  return button;
}
