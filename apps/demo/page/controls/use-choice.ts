import { useEffect, useState } from 'preact/hooks';
import { sayFailure } from './console-api.js';

/** A setting of the server: shows a choice at once, and what the server reports from then on. */
export function useChoice<T>(reported: T, put: (choice: T) => Promise<void>): readonly [T, (choice: T) => void, string | undefined] {
  const [pending, setPending] = useState<T>();
  const [failure, setFailure] = useState<string>();
  const key = JSON.stringify(reported);
  useEffect(() => setPending(undefined), [key]);
  const choose = (choice: T) => {
    setFailure(undefined);
    setPending(() => choice);
    put(choice).catch((error: unknown) => {
      setPending(undefined);
      setFailure(sayFailure(error));
    });
  };
  return [pending ?? reported, choose, failure];
}
