import { useEffect, useState } from "react";

const shownMilliseconds = 4000;

/** Words that go again by themselves; newer ones have all of their time. */
export function useTransientText(): [words: string, say: (words: string) => void] {
	const [said, setSaid] = useState({ words: "" });
	useEffect(() => {
		if (said.words === "") return;
		const timer = setTimeout(() => setSaid({ words: "" }), shownMilliseconds);
		return () => clearTimeout(timer);
	}, [said]);
	return [said.words, (words) => setSaid({ words })];
}
