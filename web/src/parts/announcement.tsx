import { useEffect, useState } from "react";

/** Long enough to skip the intermediate steps of a drag. */
const quietMilliseconds = 700;

/** Announces a change to screen readers once the words have settled. */
export function Announcement({ words }: { readonly words: string }) {
	const [said, setSaid] = useState("");
	useEffect(() => {
		const timer = setTimeout(() => setSaid(words), quietMilliseconds);
		return () => clearTimeout(timer);
	}, [words]);
	return (
		<p className="hidden announcement" role="status">
			{said}
		</p>
	);
}
