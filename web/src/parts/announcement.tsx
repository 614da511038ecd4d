import { useEffect, useState } from "react";

/** Long enough that only what stays is said, and not every step of a drag. */
const quietMilliseconds = 700;

/** Words for whoever cannot see the page change; said once they stay. */
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
