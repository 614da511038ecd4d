import { useEffect, useState } from "react";

const shownMilliseconds = 4000;

/** A text that disappears after a while; a new text restarts the timer. */
export function useTransientText(): [words: string, say: (words: string) => void] {
	const [said, setSaid] = useState({ words: "" });
	useEffect(() => {
		if (said.words === "") return;
		const timer = setTimeout(() => setSaid({ words: "" }), shownMilliseconds);
		return () => clearTimeout(timer);
	}, [said]);
	return [said.words, (words) => setSaid({ words })];
}
